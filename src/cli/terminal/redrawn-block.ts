export interface RedrawnBlock {
  draw(lines: readonly string[]): void;
  /** Removes the block, to print a line above it; the next `draw` shows it again. */
  clear(): void;
  /** Keeps the block on the screen; later output appears below it. */
  leave(): void;
}

/**
 * Redraws lines in place.
 *
 * Each line is cleared to its end instead of clearing the screen first, so that nothing flickers; the cursor is hidden
 * meanwhile. Lines must fit the terminal's width.
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
