/** 169705.6 is `169.7 s`, 120000 is `120 s`: one decimal at most, as the original design prints times. */
export function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}

/** Returns a duration for people, without seconds for long ones: 86400000 is `24 h`. */
export function span(ms: number): string {
  const hours = ms / 3_600_000;
  return hours < 2 ? seconds(ms) : `${Number(hours.toFixed(1))} h`;
}

/** 0.0156 is `1.6 %`. */
export function percent(probability: number): string {
  return `${Number((probability * 100).toFixed(1))} %`;
}

/** 1 is `1 run`, 32 is `32 runs`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
