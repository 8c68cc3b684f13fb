import type { Show } from "../row.ts";
import { accessiblePages } from "./accessible-pages.ts";
import { assistantTools } from "./assistant-tools.ts";
import { failureClicks } from "./failure-clicks.ts";
import { firstLoads } from "./first-loads.ts";
import { hostileStrings } from "./hostile-strings.ts";
import { logOfAMillionLines } from "./log-of-a-million-lines.ts";
import { manyLiveTabs } from "./many-live-tabs.ts";
import { startTimes } from "./start-times.ts";
import { tenThousandJobs } from "./ten-thousand-jobs.ts";
import { tenThousandRuns } from "./ten-thousand-runs.ts";

/** The pages as a reader sees them in Chromium, with a fresh farm behind them. */
export const pagesShow: Show = {
  name: "pages",
  measurements: [
    accessiblePages,
    firstLoads,
    failureClicks,
    tenThousandJobs,
    tenThousandRuns,
    logOfAMillionLines,
    manyLiveTabs,
    hostileStrings,
    startTimes,
    assistantTools,
  ],
};
