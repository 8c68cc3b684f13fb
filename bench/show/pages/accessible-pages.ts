import { axeFindings } from "../../../test/browser/axe-findings.ts";
import { everyPage } from "../../../test/browser/every-page.ts";
import { exactly, type Measurement } from "../row.ts";
import { withMadeUpSite } from "./made-up-site.ts";

const widths = [360, 1_280];
const themes = ["light", "dark"] as const;

/** Every page of a farm with data, in both themes, on a phone and on a screen. */
export const accessiblePages: Measurement = {
  title: "axe on every page",
  long: false,
  measure: () =>
    withMadeUpSite(async ({ url, browser }) => {
      const found: string[] = [];
      for (const path of everyPage) {
        const page = await browser.newPage();
        await page.goto(`${url}${path}`, { waitUntil: "commit" });
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 });
          for (const colorScheme of themes) {
            await page.emulateMedia({ colorScheme });
            const findings = await axeFindings(page);
            found.push(...findings.map((finding) => `${path} ${width} ${colorScheme}: ${finding}`));
          }
        }
        await page.close();
      }
      return [
        exactly(
          "findings of axe that are moderate or worse",
          found.length,
          0,
          "",
          `${everyPage.length} pages × ${widths.join(" and ")} px × ${themes.join(" and ")}; a farm with made-up data. ${found.slice(0, 10).join("; ")}`,
        ),
      ];
    }),
};
