import type { Colour } from "./style.ts";

type Levels = readonly [red: number, green: number, blue: number];

/**
 * Returns the colour of text for CSS. The first sixteen come from the theme (they must be readable on its background);
 * 16–231 are xterm's cube of 6 × 6 × 6, 232–255 its greys.
 */
export function colourVariable(colour: Colour | undefined): string | undefined {
  if (colour === undefined || typeof colour === "string") return colour;
  return colour < 16 ? `var(--ansi-${colour})` : rgb(levelsOf(colour));
}

/** Returns the colour of a background for CSS. It is the same in both themes, so that `textOn` knows it. */
export function backgroundColour(colour: Colour | undefined): string | undefined {
  return colour === undefined ? undefined : rgb(levelsOf(colour));
}

/**
 * Returns the colour of text on a background for which a program set no colour of its text: black or white, whichever
 * has more contrast.
 */
export function textOn(background: Colour): "#000" | "#fff" {
  const [red, green, blue] = levelsOf(background);
  const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  // The contrast with white is 1.05 / (L + 0.05), with black (L + 0.05) / 0.05 (WCAG 2.2): they are equal at 0.179.
  return luminance > 0.179 ? "#000" : "#fff";
}

const linear = (level: number) => (level / 255) ** 2.2;

const rgb = ([red, green, blue]: Levels) => `rgb(${red} ${green} ${blue})`;

/** The sixteen colours of backgrounds. */
const firstSixteen: readonly Levels[] = [
  [58, 58, 58],
  [179, 38, 30],
  [29, 122, 69],
  [138, 97, 0],
  [31, 95, 196],
  [138, 58, 168],
  [15, 116, 128],
  [216, 212, 202],
  [109, 105, 96],
  [208, 54, 63],
  [43, 148, 89],
  [168, 120, 0],
  [59, 124, 232],
  [165, 82, 196],
  [26, 142, 156],
  [255, 255, 255],
];

function levelsOf(colour: Colour): Levels {
  if (typeof colour === "string") {
    const value = Number.parseInt(colour.slice(1), 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
  }
  if (colour < 16) return firstSixteen[colour] ?? [0, 0, 0];
  if (colour >= 232) {
    const grey = 8 + (colour - 232) * 10;
    return [grey, grey, grey];
  }
  const at = colour - 16;
  return [cubeLevel(Math.floor(at / 36)), cubeLevel(Math.floor(at / 6) % 6), cubeLevel(at % 6)];
}

const cubeLevel = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
