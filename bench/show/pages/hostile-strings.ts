import { everyPage } from "../../../test/browser/every-page.ts";
import {
  hostileText,
  lookForHarm,
  startHostileServer,
} from "../../../test/browser/hostile-strings.ts";
import { atLeast, exactly, type Measurement } from "../row.ts";
import { withMadeUpSite } from "./made-up-site.ts";

const widths = [360, 1_280];
/** Pages of instructions and of choices show no text from outside. */
const leastPagesWithText = 30;

/** Every page with hostile names, messages and log lines: nothing runs, and no page is wider than its window. */
export const hostileStrings: Measurement = {
  title: "hostile strings on every page",
  long: false,
  measure: () =>
    withMadeUpSite(async ({ farm, url, browser }) => {
      const pages = [
        ...everyPage,
        // The log of an attacker.
        "/graphs/older/jobs/format",
        "/invocations/failed-one",
        "/invocations/failed-one?view=targets",
        "/invocations/failed-one?view=log",
        "/invocations/failed-one?view=options",
        `/executions/${[...farm.executions.keys()][0] ?? ""}`,
      ];
      const hostile = await startHostileServer(url);
      const found: string[] = [];
      let withText = 0;
      for (const path of pages) {
        const page = await browser.newPage();
        page.on("pageerror", (error) => found.push(`${path}: ${error.message}`));
        page.on("dialog", (dialog) => {
          found.push(`${path}: a dialog was opened`);
          void dialog.dismiss();
        });
        await page.goto(`${hostile.url}${path}`, { waitUntil: "commit" });
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 });
          const { harm, isShown } = await lookForHarm(page);
          for (const each of harm) found.push(`${path} ${width} px: ${each}`);
          if (isShown && width === widths[0]) withText += 1;
        }
        await page.close();
      }
      await hostile.stop();
      const how = `${pages.length} pages × ${widths.join(" and ")} px in Chromium; names, messages and log lines of all answers and events continue with scripts, escape sequences, marks that reverse text, and a word of 10,000 letters (${hostileText.length} characters)`;
      return [
        exactly(
          "hostile strings: scripts that ran, errors of pages, and pages wider than their window",
          found.length,
          0,
          "",
          `${how}. ${found.slice(0, 20).join("; ")}`,
        ),
        atLeast(
          "hostile strings: pages that show them",
          withText,
          leastPagesWithText,
          "pages",
          how,
        ),
      ];
    }),
};
