/** Functions that add colours, or return the text unchanged. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** Only basic colours, which every terminal theme makes readable. */
export function paintFor(isColoured: boolean): Paint {
  const style =
    (on: number, off: number) =>
    (text: string): string =>
      isColoured && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    cyan: style(36, 39),
  };
}
