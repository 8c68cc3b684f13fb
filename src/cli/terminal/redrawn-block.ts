export interface RedrawnBlock {
  draw(lines: readonly string[]): void;
  /** Removes the block, for a line that stays above it; the next `draw` brings it back. */
  clear(): void;
  /** Leaves the block in place; later output comes below it. */
  leave(): void;
}

/**
 * Lines that are drawn over again in place.
 *
 * Each is cleared to its end rather than the screen wiped first, so that nothing
 * flickers; the cursor hides meanwhile. Lines must fit the terminal's width.
 */
export function redrawnBlock(write: (text: string) => void): RedrawnBlock {
  let height = 0;
  let last = "";
  let isCursorHidden = false;
  return {
    draw(lines) {
      const text = lines.map((line) => `${line}\u001b[K\n`).join("");
      if (text === last) return;
      const hide = isCursorHidden ? "" : "\u001b[?25l";
      const up = height === 0 ? "" : `\u001b[${height}A`;
      // When the block has become shorter, the lines below it are cleared.
      write(`${hide}${up}${text}\u001b[J`);
      isCursorHidden = true;
      height = lines.length;
      last = text;
    },
    clear() {
      if (height > 0) write(`\u001b[${height}A\u001b[J`);
      height = 0;
      last = "";
    },
    leave() {
      if (isCursorHidden) write("\u001b[?25h");
      isCursorHidden = false;
      height = 0;
      last = "";
    },
  };
}
