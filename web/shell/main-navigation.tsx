import { Link, useRouterState } from "@tanstack/react-router";
import { groupOf, markedPage, navigationGroups } from "./navigation.ts";

/** The groups of pages. */
export function MainNavigation() {
  const current = useCurrentGroup();
  return (
    <nav aria-label="Main">
      <Link to="/" activeOptions={{ exact: true }}>
        Home
      </Link>
      {navigationGroups.map((group) => (
        <Link
          key={group.label}
          to={group.pages[0].to}
          className={group === current ? "active" : ""}
          aria-current={group === current ? "true" : undefined}
          // The router would mark the page that the link opens, and not the other pages of the group.
          activeProps={{ className: "active" }}
        >
          {group.label}
        </Link>
      ))}
    </nav>
  );
}

/** The pages of the current group, below the groups. Nothing when the group has one page only. */
export function GroupNavigation() {
  const group = useCurrentGroup();
  const marked = markedPage(usePath());
  if (group === undefined || group.pages.length === 1) return null;
  return (
    <nav className="group-pages" aria-label={group.label}>
      {group.pages.map(({ label, to }) => (
        <Link
          key={to}
          to={to}
          className={to === marked?.to ? "active" : ""}
          aria-current={to === marked?.to ? "true" : undefined}
          // The path of one page may begin with that of another of its group.
          activeOptions={{ exact: group.pages.some((other) => other.to.startsWith(`${to}/`)) }}
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

function useCurrentGroup() {
  return groupOf(usePath());
}

function usePath(): string {
  return useRouterState({ select: ({ location }) => location.pathname });
}
