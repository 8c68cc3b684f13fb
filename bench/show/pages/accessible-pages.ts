import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { axeFindings } from "../../../test/browser/axe-findings.ts";
import { everyPage } from "../../../test/browser/every-page.ts";
import { launchChromium } from "../../../test/support/chromium.ts";
import { startFakeServer } from "../../../web/dev/fake-server.ts";
import { madeUpFarm } from "../../../web/dev/made-up-farm.ts";
import { madeUpGranary } from "../../../web/dev/made-up-granary.ts";
import { madeUpLab } from "../../../web/dev/made-up-lab.ts";
import { exactly, type Measurement } from "../row.ts";

const script = new URL("../../../scripts/page-bundles.mjs", import.meta.url).href;
const widths = [360, 1_280];
const themes = ["light", "dark"] as const;

/** Every page of a farm with data, in both themes, on a phone and on a screen. */
export const accessiblePages: Measurement = {
  title: "axe on every page",
  long: false,
  async measure() {
    const { buildPages } = (await import(script)) as {
      readonly buildPages: (outDir: string) => Promise<void>;
    };
    const pagesDirectory = await mkdtemp(join(tmpdir(), "grange-pages-"));
    const now = new Date();
    const farm = madeUpFarm(now);
    farm.granary = madeUpGranary(now);
    farm.lab = madeUpLab(now, 24);
    const browser = await launchChromium();
    try {
      await buildPages(pagesDirectory);
      const server = await startFakeServer(farm, { port: 0, pagesDirectory });
      const found: string[] = [];
      for (const path of everyPage) {
        const page = await browser.newPage();
        await page.goto(`${server.url}${path}`, { waitUntil: "commit" });
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
      await server.stop();
      return [
        exactly(
          "findings of axe that are moderate or worse",
          found.length,
          0,
          "",
          `${everyPage.length} pages × ${widths.join(" and ")} px × ${themes.join(" and ")}; a farm with made-up data. ${found.slice(0, 10).join("; ")}`,
        ),
      ];
    } finally {
      await browser.close();
      await rm(pagesDirectory, { recursive: true, force: true });
    }
  },
};
