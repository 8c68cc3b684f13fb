import { Link } from "@tanstack/react-router";

/** Links to other pages of a repository. */
export function RepositoryLinks({ name }: { readonly name: string }) {
  return (
    <nav className="page-links" aria-label={`Of ${name}`}>
      <Link to="/repositories/$name/branches" params={{ name }}>
        Branches
      </Link>
      <Link to="/repositories/$name/trends" params={{ name }}>
        Trends
      </Link>
      <Link to="/new" search={{ repository: name }}>
        New graph
      </Link>
      <Link to="/searches" search={{ repository: name }}>
        Searches
      </Link>
      <Link to="/times" search={{ repository: name }}>
        Times
      </Link>
      <Link to="/catalogs/diff" search={{ repository: name }}>
        Compare definitions
      </Link>
      <Link to="/rights" search={{ repository: name }}>
        Rights
      </Link>
    </nav>
  );
}
