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
  | "/invocations"
  | "/connect"
  | "/benchmarks"
  | "/workers"
  | "/size-classes"
  | "/granary"
  | "/forge"
  | "/retention"
  | "/rights"
  | "/share-links";

interface NavigationGroup {
  readonly label: string;
  /** The first one opens with the group. */
  readonly pages: readonly [NavigationPage, ...NavigationPage[]];
  /** Beginnings of the paths of further pages that belong to the group. */
  readonly also: readonly string[];
}

export const navigationGroups: readonly NavigationGroup[] = [
  {
    label: "Commits",
    pages: [
      { label: "Repositories", to: "/repositories" },
      { label: "New graph", to: "/new" },
      { label: "Searches", to: "/searches" },
      { label: "Times", to: "/times" },
    ],
    also: ["/graphs", "/sets", "/catalogs"],
  },
  {
    label: "Builds",
    pages: [
      { label: "Invocations", to: "/invocations" },
      { label: "Connect a tool", to: "/connect" },
    ],
    also: ["/executions"],
  },
  { label: "Benchmarks", pages: [{ label: "Benchmarks", to: "/benchmarks" }], also: [] },
  {
    label: "Workers",
    pages: [
      { label: "Workers", to: "/workers" },
      { label: "Size classes", to: "/size-classes" },
    ],
    also: ["/size-class-keys"],
  },
  { label: "Cache", pages: [{ label: "Granary", to: "/granary" }], also: [] },
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
    [...pages.map(({ to }) => to), ...also].some((begin) => isBelow(path, begin)),
  );
}

function isBelow(path: string, begin: string): boolean {
  return path === begin || path.startsWith(`${begin}/`);
}
