const esc = "\u001b";

/** Sets colours; the only sequence that text from elsewhere may send to a terminal. */
export const colourSequence = new RegExp(`${esc}\\[[0-9;:]*m`, "g");

/** All of ECMA-48's: CSI, then those that carry a text (title, clipboard), then the short ones. */
export const anySequence = new RegExp(
  `${esc}(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\\u0007${esc}]*(?:\\u0007|${esc}\\\\)?|[ -/]*[0-~])`,
  "g",
);
