import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { madeUpGranary } from "../../web/dev/made-up-granary.ts";
import { madeUpLab } from "../../web/dev/made-up-lab.ts";
import { axeFindings } from "./axe-findings.ts";
import { everyPage, routesLeftOut } from "./every-page.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const now = new Date();
const farm = madeUpFarm(now);
farm.granary = madeUpGranary(now);
farm.lab = madeUpLab(now, 24);
const { open } = await farmInBrowser(farm);

test("the list has a page for each route", () => {
  const web = join(import.meta.dirname, "../../web");
  const routes = readdirSync(web)
    .filter((name) => /^(router|routes-.*)\.tsx$/.test(name))
    .flatMap((name) => [
      ...readFileSync(join(web, name), "utf8").matchAll(/^ {2}path: "([^"]+)"/gm),
    ])
    .map(([, path = ""]) => path)
    .filter((path) => !(path in routesLeftOut));
  const isOf = (route: string, page: string) =>
    new RegExp(`^${route.replaceAll(/\$\w+/g, "[^/?]+")}(\\?|$)`).test(page);

  expect(routes.length).toBeGreaterThan(30);
  expect(routes.filter((route) => !everyPage.some((page) => isOf(route, page)))).toEqual([]);
});

/** One width in each theme; `npm run show -- pages` looks at both widths in both. */
test.each(everyPage)("axe finds nothing moderate or serious on %s", async (path) => {
  const { page } = await open(path);

  await page.emulateMedia({ colorScheme: "light" });
  expect(await axeFindings(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await axeFindings(page)).toEqual([]);
  await page.close();
});
