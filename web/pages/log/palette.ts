import type { Colour } from "./style.ts";

/**
 * Returns a colour for CSS. The first sixteen come from the theme (they must be readable on its background); 16–231 are
 * xterm's cube of 6 × 6 × 6, 232–255 its greys.
 */
export function colourVariable(colour: Colour | undefined): string | undefined {
  if (colour === undefined || typeof colour === "string") return colour;
  if (colour < 16) return `var(--ansi-${colour})`;
  if (colour >= 232) {
    const grey = 8 + (colour - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const at = colour - 16;
  const [red, green, blue] = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map(cubeLevel);
  return `rgb(${red} ${green} ${blue})`;
}

const cubeLevel = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
