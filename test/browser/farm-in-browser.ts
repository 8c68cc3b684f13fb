import type { Browser, Page } from "playwright-core";
import { afterAll, beforeEach } from "vitest";
import { FakeFarm } from "../../web/dev/fake-farm.ts";
import { type FakeServer, startFakeServer } from "../../web/dev/fake-server.ts";
import { browserNeed, launchChromium } from "../support/chromium.ts";
import { skipWithout } from "../support/needs/needs.ts";
import { builtPages } from "../support/shared-resources.ts";

interface FarmInBrowser {
  readonly farm: FakeFarm;
  readonly server: FakeServer;
  /**
   * Opens a new page in a separate profile. `faults` collects the errors of the page, `requests` the addresses that it
   * requests.
   */
  readonly open: (
    path: string,
    /** The address of another server in front of the farm. */
    url?: string,
  ) => Promise<{ page: Page; faults: string[]; requests: string[] }>;
}

/**
 * The production pages in a real browser, served by a fake farm.
 *
 * If no browser is installed, the tests of the file are skipped.
 */
export async function farmInBrowser(farm = new FakeFarm()): Promise<FarmInBrowser> {
  const { open, server } = await pagesInBrowser((pagesDirectory) =>
    startFakeServer(farm, { port: 0, pagesDirectory }),
  );
  return { farm, server, open };
}

interface ServesPages {
  readonly url: string;
  stop(): Promise<void>;
}

/** The same with any server that serves the pages of a directory. */
export async function pagesInBrowser<S extends ServesPages>(
  start: (pagesDirectory: string) => Promise<S>,
): Promise<{ readonly server: S; readonly open: FarmInBrowser["open"] }> {
  let browser: Browser | undefined;
  let server: S | undefined;
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  const hasBrowser = browserNeed.missing === undefined;
  beforeEach((context) => skipWithout(context, browserNeed));
  // Without a browser, nothing asks for a page.
  const running = await start(hasBrowser ? await builtPages() : import.meta.dirname);
  server = running;
  if (hasBrowser) browser = await launchChromium();

  return {
    server: running,
    async open(path, url = running.url) {
      if (browser === undefined) throw new Error(browserNeed.missing);
      const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(error.message));
      page.on("dialog", (dialog) => {
        faults.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on("console", (message) => {
        if (message.type() === "error") faults.push(message.text());
      });
      const requests: string[] = [];
      page.on("request", (request) => requests.push(request.url()));
      await page.goto(`${url}${path}`, { waitUntil: "commit" });
      return { page, faults, requests };
    },
  };
}
