/** A page that the navigation names. */
interface NavigationPage {
  readonly label: string;
  readonly to: PagePath;
}

type PagePath =
  | "/repositories"
  | "/new"
  | "/searches"
  | "/times"
  | "/flaky"
  | "/invocations"
  | "/connect"
  | "/benchmarks"
  | "/workers"
  | "/workers/timeline"
  | "/size-classes"
  | "/cache"
  | "/granary"
  | "/forge"
  | "/retention"
  | "/rights"
  | "/share-links";

interface NavigationGroup {
  readonly label: string;
  /** The first one opens with the group. */
  readonly pages: readonly [NavigationPage, ...NavigationPage[]];
  /** Beginnings of the paths of further pages that belong to the group, each with the page that is above them. */
  readonly also: readonly { readonly path: string; readonly below: PagePath }[];
}

export const navigationGroups: readonly NavigationGroup[] = [
  {
    label: "Commits",
    pages: [
      { label: "Repositories", to: "/repositories" },
      { label: "New graph", to: "/new" },
      { label: "Searches", to: "/searches" },
      { label: "Times", to: "/times" },
      { label: "Flaky", to: "/flaky" },
    ],
    also: [
      { path: "/graphs", below: "/repositories" },
      { path: "/sets", below: "/repositories" },
      { path: "/catalogs", below: "/repositories" },
    ],
  },
  {
    label: "Builds",
    pages: [
      { label: "Invocations", to: "/invocations" },
      { label: "Connect a tool", to: "/connect" },
    ],
    also: [
      { path: "/executions", below: "/invocations" },
      { path: "/targets", below: "/invocations" },
    ],
  },
  { label: "Benchmarks", pages: [{ label: "Benchmarks", to: "/benchmarks" }], also: [] },
  {
    label: "Workers",
    pages: [
      { label: "Workers", to: "/workers" },
      { label: "Timeline", to: "/workers/timeline" },
      { label: "Size classes", to: "/size-classes" },
    ],
    also: [{ path: "/size-class-keys", below: "/size-classes" }],
  },
  {
    label: "Cache",
    pages: [
      { label: "Cache", to: "/cache" },
      { label: "Granary", to: "/granary" },
    ],
    also: [],
  },
  {
    label: "Administration",
    pages: [
      { label: "Forges", to: "/forge" },
      { label: "Retention", to: "/retention" },
      { label: "Rights", to: "/rights" },
      { label: "Share links", to: "/share-links" },
    ],
    also: [],
  },
];

/** Returns the group that a page belongs to; undefined for the home page and others outside all groups. */
export function groupOf(path: string): NavigationGroup | undefined {
  return navigationGroups.find(({ pages, also }) =>
    [...pages.map(({ to }) => to), ...also.map((each) => each.path)].some((begin) =>
      isBelow(path, begin),
    ),
  );
}

/** Returns the page of the navigation that a page is, or is below; undefined for pages outside all groups. */
export function markedPage(path: string): NavigationPage | undefined {
  return groupOf(path)?.pages.find(({ to }) => to === path) ?? pageAbove(path);
}

/** Returns the page of the navigation above a page; undefined for one that the navigation itself names. */
export function pageAbove(path: string): NavigationPage | undefined {
  const group = groupOf(path);
  const begin = group?.also.find((each) => isBelow(path, each.path))?.below;
  return group?.pages.find(({ to }) => to === begin || (to !== path && isBelow(path, to)));
}

function isBelow(path: string, begin: string): boolean {
  return path === begin || path.startsWith(`${begin}/`);
}
