/** Formats a share from 0 to 1, for people: never rounded up to 100 %. */
export function percentText(share: number): string {
  if (share === 1) return "100 %";
  return `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
}
