import type { Show } from "../row.ts";
import { logOfAMillionLines } from "./log-of-a-million-lines.ts";

/** The pages as a reader sees them in Chromium, with a fresh farm behind them. */
export const pagesShow: Show = {
  name: "pages",
  measurements: [logOfAMillionLines],
};
