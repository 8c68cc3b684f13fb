export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, each) => sum + Math.log(each), 0) / values.length);
}
