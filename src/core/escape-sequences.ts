const esc = "\u001b";

/** Sets colours: the only sequence that foreign text may send to a terminal. */
export const colourSequence = new RegExp(`${esc}\\[[0-9;:]*m`, "g");

/** All sequences of ECMA-48: CSI, then sequences with a text (title, clipboard), then short ones. */
export const anySequence = new RegExp(
  `${esc}(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\\u0007${esc}]*(?:\\u0007|${esc}\\\\)?|[ -/]*[0-~])`,
  "g",
);
