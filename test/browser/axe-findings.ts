import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { rest } from "#core/resting.ts";

const source = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const betweenLooksMs = 80;

/** The impacts of findings that count; `minor` does not. */
const counted: ReadonlySet<string> = new Set(["moderate", "serious", "critical"]);

/**
 * Returns what axe finds on a page, one line for each element: the rule, the element, and the reason.
 *
 * The text of logs is left out: programs choose its colours.
 */
export async function axeFindings(page: Page): Promise<string[]> {
  await settled(page);
  // The content security policy forbids scripts in the page; this is evaluated outside of it.
  // At a second look, for example in the other theme, it is still there.
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(await source);
  const found = (await page.evaluate(
    `axe.run({ exclude: [[".log-text"]] }, { resultTypes: ["violations"] })`,
  )) as AxeResults;
  return found.violations
    .filter(({ impact }) => counted.has(impact ?? ""))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => {
        const why = failureSummary?.split("\n")[1]?.trim() ?? "";
        return `${id}: ${target.join(" ")}: ${why}`;
      }),
    );
}

/** Resolves when the heading is there, and the text did not change between four looks. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  let before = "";
  for (let same = 0; same < 3; ) {
    const text = await page.locator("body").innerText();
    same = text === before ? same + 1 : 0;
    before = text;
    await rest(betweenLooksMs);
  }
}
