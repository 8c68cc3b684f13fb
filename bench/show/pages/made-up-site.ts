import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launchChromium } from "../../../test/support/chromium.ts";
import type { FakeFarm } from "../../../web/dev/fake-farm.ts";
import { startFakeServer } from "../../../web/dev/fake-server.ts";
import { madeUpFarm } from "../../../web/dev/made-up-farm.ts";
import { madeUpGranary } from "../../../web/dev/made-up-granary.ts";
import { madeUpLab } from "../../../web/dev/made-up-lab.ts";

const script = new URL("../../../scripts/page-bundles.mjs", import.meta.url).href;

interface MadeUpSite {
  readonly farm: FakeFarm;
  readonly url: string;
  readonly browser: Browser;
}

/** Calls `work` with the production pages of a farm with made-up data of all kinds, and a browser. */
export async function withMadeUpSite<T>(work: (site: MadeUpSite) => Promise<T>): Promise<T> {
  const { buildPages } = (await import(script)) as {
    readonly buildPages: (outDir: string) => Promise<void>;
  };
  const now = new Date();
  const farm = madeUpFarm(now);
  farm.granary = madeUpGranary(now);
  farm.lab = madeUpLab(now, 24);
  const pagesDirectory = await mkdtemp(join(tmpdir(), "grange-pages-"));
  const browser = await launchChromium();
  try {
    await buildPages(pagesDirectory);
    const server = await startFakeServer(farm, { port: 0, pagesDirectory });
    try {
      return await work({ farm, url: server.url, browser });
    } finally {
      await server.stop();
    }
  } finally {
    await browser.close();
    await rm(pagesDirectory, { recursive: true, force: true });
  }
}
