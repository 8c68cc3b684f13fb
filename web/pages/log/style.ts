/** 0–255: the terminal's palette. `#rrggbb`: a colour of its own. */
export type Colour = number | string;

/** The style of a character in a terminal. */
export interface Style {
  readonly foreground: Colour | undefined;
  readonly background: Colour | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly strike: boolean;
  readonly inverse: boolean;
}

export const plain: Style = {
  foreground: undefined,
  background: undefined,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

/**
 * Returns the style after an SGR sequence (ECMA-48 §8.3.117), given its parameters as written.
 *
 * Colons may replace semicolons (`38:2::r:g:b`, ISO 8613-6). Unknown parameters are ignored.
 */
export function afterSgr(style: Style, parameters: string): Style {
  const codes = parameters.split(";").flatMap(readParameter);
  let next = style;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const colour = readColour(codes, at + 1);
      at += colour.taken;
      if (colour.value === undefined) continue;
      next =
        code === 38 ? { ...next, foreground: colour.value } : { ...next, background: colour.value };
    } else {
      next = afterCode(next, code);
    }
  }
  return same(next, plain) ? plain : next;
}

function readParameter(text: string): number[] {
  if (!text.includes(":")) return [Number(text)];
  const parts = text.split(":");
  // `38:2:<colour space>:r:g:b` has one part more than `38:2:r:g:b`, mostly an empty one.
  if (parts[1] === "2" && parts.length >= 6) parts.splice(2, 1);
  // `4:3` is a curly underline, `4:0` none.
  if (parts[0] === "4") return [parts[1] === "0" ? 24 : 4];
  return parts.map(Number);
}

function readColour(codes: readonly number[], at: number): { value?: Colour; taken: number } {
  const [kind, first = -1, green = -1, blue = -1] = codes.slice(at, at + 4);
  if (kind === 5) return isByte(first) ? { value: first, taken: 2 } : { taken: 2 };
  if (kind !== 2) return { taken: 1 };
  const parts = [first, green, blue];
  if (!parts.every(isByte)) return { taken: 4 };
  return {
    value: `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`,
    taken: 4,
  };
}

const isByte = (value: number) => Number.isInteger(value) && value >= 0 && value <= 255;

function afterCode(style: Style, code: number): Style {
  if (code >= 30 && code <= 37) return { ...style, foreground: code - 30 };
  if (code >= 40 && code <= 47) return { ...style, background: code - 40 };
  if (code >= 90 && code <= 97) return { ...style, foreground: code - 90 + 8 };
  if (code >= 100 && code <= 107) return { ...style, background: code - 100 + 8 };
  const change = changes[code];
  return change === undefined ? style : { ...style, ...change };
}

const changes: Readonly<Record<number, Partial<Style>>> = {
  0: plain,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { foreground: undefined },
  49: { background: undefined },
};

export function same(a: Style, b: Style): boolean {
  return (
    a === b ||
    (a.foreground === b.foreground &&
      a.background === b.background &&
      a.bold === b.bold &&
      a.dim === b.dim &&
      a.italic === b.italic &&
      a.underline === b.underline &&
      a.strike === b.strike &&
      a.inverse === b.inverse)
  );
}
