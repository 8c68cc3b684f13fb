import type { Page } from "playwright-core";

const seenText = "shown on the page";

/**
 * Measures how soon a page shows something after its address was opened.
 *
 * The page itself looks in each frame and prints when it is there. A locator of the driver would first compile the
 * driver's code in the page, which takes up to 100 ms of the thread that also runs the page's code.
 */
export class PageWatch {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  /** @param isShown a JavaScript expression, evaluated in the page */
  static async on(page: Page, isShown: string): Promise<PageWatch> {
    await page.addInitScript(`
      const look = () => {
        if (!(${isShown})) return requestAnimationFrame(look);
        // The frame that contains it comes now.
        requestAnimationFrame(() => setTimeout(() => console.log(${JSON.stringify(seenText)})));
      };
      look();
    `);
    return new PageWatch(page);
  }

  /** Opens an address and returns the time until it was shown, in ms. */
  async open(address: string): Promise<number> {
    const seen = this.#page.waitForEvent("console", (message) => message.text() === seenText);
    const openedAt = performance.now();
    await Promise.all([this.#page.goto(address, { waitUntil: "commit" }), seen]);
    return performance.now() - openedAt;
  }
}
