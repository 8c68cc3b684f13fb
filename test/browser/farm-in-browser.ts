import type { Browser, BrowserContext, Page } from "playwright-core";
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
  /**
   * Whether the path is opened in the page that the last call with this option opened, with nothing stored and an empty
   * HTTP cache. A process that has run the scripts before needs a third less processor time than a new one.
   */
  readonly inSamePage?: boolean;
}

interface OpenedPage {
  readonly page: Page;
  readonly faults: string[];
  readonly requests: string[];
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
   * Opens a new page, with nothing stored. `faults` collects the errors of the page, `requests` the addresses that it
   * requests.
   */
  readonly open: (path: string, options?: OpenOptions) => Promise<OpenedPage>;
}

/**
 * The production pages in a real browser, served by a fake farm.
 *
 * If no browser is installed, the tests of the file are skipped.
 */
export async function farmInBrowser(farm = new FakeFarm()): Promise<FarmInBrowser> {
  const { open, server } = await pagesInBrowser(
    (pagesDirectory) => startFakeServer(farm, { port: 0, pagesDirectory }),
    { inOneProfile: true },
  );
  return { farm, server, open };
}

interface ServesPages {
  readonly url: string;
  stop(): Promise<void>;
}

interface PagesOptions {
  /**
   * Whether the pages share a profile of the browser, and so its HTTP cache and the process that has compiled their
   * scripts before. For tests that need no two users at once.
   */
  readonly inOneProfile?: boolean;
}

/**
 * The same with any server that serves the pages of a directory. Each page has a profile of its own, unless they share
 * one.
 */
export async function pagesInBrowser<S extends ServesPages>(
  start: (pagesDirectory: string) => Promise<S>,
  { inOneProfile = false }: PagesOptions = {},
): Promise<{ readonly server: S; readonly open: FarmInBrowser["open"] }> {
  let browser: Browser | undefined;
  let server: S | undefined;
  let same: OpenedPage | undefined;
  let shared: SharedProfile | undefined;
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  // After a failure, too: the page of the failed try would take processor time from the next one.
  afterEach(async ({ task }) => {
    if (task.result?.state === "fail") same = shared = undefined;
    const kept = [same?.page.context(), shared?.context];
    for (const context of browser?.contexts() ?? []) {
      if (!kept.includes(context)) await context.close();
    }
    if (shared !== undefined) await emptyProfile(shared);
  });

  const hasBrowser = browserNeed.missing === undefined;
  beforeEach((context) => skipWithout(context, browserNeed));
  // Without a browser, nothing asks for a page.
  const running = await start(hasBrowser ? await builtPages() : import.meta.dirname);
  server = running;
  if (hasBrowser) browser = await launchChromium(inOneProfile ? ["--process-per-site"] : []);

  return {
    server: running,
    async open(path, { url = running.url, repeatsRequests = true, inSamePage = false } = {}) {
      if (browser === undefined) throw new Error(browserNeed.missing);
      const reused = inSamePage ? same : undefined;
      const isShared = inOneProfile && url === running.url && !inSamePage;
      if (isShared) shared ??= await openProfile(browser, url);
      const context = isShared ? shared?.context : undefined;
      const opened = reused ?? (await openPage(context ?? browser, repeatsRequests));
      if (inSamePage && reused === undefined) await withoutCache(opened.page);
      if (reused !== undefined) await empty(reused);
      if (inSamePage) same = opened;
      await opened.page.goto(`${url}${path}`, { waitUntil: "commit" });
      return opened;
    },
  };
}

const viewport = { width: 1_280, height: 800 };

/** A profile that the pages of several tests use, one after another. */
interface SharedProfile {
  readonly context: BrowserContext;
  /** Without an open page of the same site, its process would end. */
  readonly keeper: Page;
}

async function openProfile(browser: Browser, url: string): Promise<SharedProfile> {
  const context = await browser.newContext({ viewport });
  const keeper = await context.newPage();
  keeper.setDefaultTimeout(pageTimeoutMs);
  await keeper.goto(`${url}/favicon.svg`);
  return { context, keeper };
}

/** Closes the pages of a test, and removes what they have stored. */
async function emptyProfile({ context, keeper }: SharedProfile): Promise<void> {
  for (const page of context.pages()) if (page !== keeper) await page.close();
  await keeper.evaluate("localStorage.clear()");
  await context.clearCookies();
}

async function openPage(
  within: Browser | BrowserContext,
  repeatsRequests: boolean,
): Promise<OpenedPage> {
  const page = await ("contexts" in within ? within.newPage({ viewport }) : within.newPage());
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
  return { page, faults, requests };
}

/** Turns the HTTP cache of a page off. */
async function withoutCache(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Network.enable");
  await devTools.send("Network.setCacheDisabled", { cacheDisabled: true });
}

/** Removes what a page has stored, and forgets its requests and faults when it leaves for the next path. */
async function empty({ page, faults, requests }: OpenedPage): Promise<void> {
  await page.evaluate("localStorage.clear(); sessionStorage.clear()");
  await page.context().clearCookies();
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(viewport);
  page.on("request", function leaves(request) {
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return;
    page.off("request", leaves);
    // The request of the next path is already the last one.
    requests.splice(0, requests.length - 1);
    faults.length = 0;
  });
}
