import type { Need } from "./needs.ts";

/** The program `bst` of BuildStream 2. */
export const buildStreamProgram = process.env["GRANGE_TEST_BUILDSTREAM"];

/** The wheel of PyPI has BuildStream's programs in C++, too. */
export const buildStreamNeed: Need = {
  name: "BuildStream 2",
  missing:
    buildStreamProgram === undefined
      ? "GRANGE_TEST_BUILDSTREAM names no program bst: pip install buildstream==2.8.1"
      : undefined,
  remedy: { kind: "command", command: "pip install buildstream==2.8.1" },
};
