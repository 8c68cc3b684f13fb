/**
 * A path for each route of the pages, with data of the made-up farm. `every-page.test.ts` compares the list with the
 * routes.
 */
export const everyPage = [
  "/",
  "/benchmarks",
  "/benchmarks/collectors/barn-1",
  "/benchmarks/compare",
  "/benchmarks/graphs",
  "/benchmarks/help",
  "/benchmarks/noise?suite=typescript&case=compile+rxjs+check+full+js+linux-x64",
  "/benchmarks/requests/11111111-0000-4000-8000-000000010001",
  "/benchmarks/searches",
  "/benchmarks/searches/22222222-0000-4000-8000-000000000001",
  "/benchmarks/series?suite=typescript&case=compile+rxjs+check+full+js+linux-x64&metric=instructions",
  "/cache?before=aa/1&after=bb/2",
  "/catalogs/diff",
  "/connect",
  "/flaky",
  "/granary",
  "/granary/builds/00000000-0000-4000-8000-000000000000",
  "/granary/help",
  "/granary/indexes",
  "/granary/indexes/077a459b4772cffafdae8dfe65e4f7d7fa223d65?environment=ba5285161ba6eed0&repository=https%3A%2F%2Fexample.org%2Fgrange.git",
  "/granary/quarantine",
  "/graphs/large",
  "/graphs/now",
  "/graphs/past-2/jobs/unit%2Fcas",
  "/invocations",
  "/invocations/waiting-one",
  "/new",
  "/repositories",
  "/repositories/grange",
  "/repositories/grange/branches",
  "/repositories/grange/trends",
  "/retention",
  "/searches",
  "/sets/large",
  "/shared",
  "/sign-in",
  "/size-class-keys/a%3Amade-up-0?domain=protected",
  "/size-classes",
  "/size-classes/1?platform=ISA%3Dx86-64%2C+OSFamily%3Dlinux",
  "/workers",
  "/workers/timeline",
] as const;

/** Routes that the list leaves out, with the reason. */
export const routesLeftOut: Readonly<Record<string, string>> = {
  "/in/$project/$id": "it leads to /invocations/$id",
  "/forge": "forge.test.ts looks at it with axe, on a real server",
  "/rights": "rights.test.ts looks at it with axe, on a real server",
  "/share-links": "share-links.test.ts looks at it with axe, on a real server",
  "/times": "the made-up farm answers no times of graphs",
  "/executions/$id": "invocations.test.ts looks at it with axe",
  "/searches/$id":
    "the made-up farm has no search among its graphs; searches of benchmarks have the same parts",
};
