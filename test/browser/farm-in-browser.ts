import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeEach } from "vitest";
import { FakeFarm } from "../../web/dev/fake-farm.ts";
import { type FakeServer, startFakeServer } from "../../web/dev/fake-server.ts";
import { browserNeed, launchChromium } from "../support/chromium.ts";
import { skipWithout } from "../support/needs/needs.ts";
import { builtPages } from "../support/shared-resources.ts";

interface OpenOptions {
  /** The address of another server in front of the farm. */
  readonly url?: string;
  /** Whether the page requests things again at an interval; true by default. */
  readonly repeatsRequests?: boolean;
}

/** On a busy machine, pages were seen to need 30 s, the default of Playwright, with forty processes for two CPUs. */
const pageTimeoutMs = 120_000;

/** Runs in a page before its own scripts. Pages request things again after 2 s at the soonest. */
const withoutLateTimers = `
  const ofBrowser = window.setTimeout.bind(window);
  window.setTimeout = (action, ms, ...values) => (ms < 1000 ? ofBrowser(action, ms, ...values) : 0);
  window.setInterval = () => 0;
`;

interface FarmInBrowser {
  readonly farm: FakeFarm;
  readonly server: FakeServer;
  /**
   * Opens a new page in a separate profile. `faults` collects the errors of the page, `requests` the addresses that it
   * requests.
   */
  readonly open: (
    path: string,
    options?: OpenOptions,
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

  // After a failure, too: the page of the failed try would take processor time from the next one.
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
  });

  const hasBrowser = browserNeed.missing === undefined;
  beforeEach((context) => skipWithout(context, browserNeed));
  // Without a browser, nothing asks for a page.
  const running = await start(hasBrowser ? await builtPages() : import.meta.dirname);
  server = running;
  if (hasBrowser) browser = await launchChromium();

  return {
    server: running,
    async open(path, { url = running.url, repeatsRequests = true } = {}) {
      if (browser === undefined) throw new Error(browserNeed.missing);
      const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
      page.setDefaultTimeout(pageTimeoutMs);
      if (!repeatsRequests) await page.addInitScript(withoutLateTimers);
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
