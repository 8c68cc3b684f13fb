import { navigationGroups } from "../navigation.ts";
import { applyTheme, themes } from "../theme.ts";

/** What the palette offers without the server: an address to open, or an action. */
interface FixedEntry {
  readonly kind: "page" | "action" | "document" | "setting";
  readonly label: string;
  /** Further words by which it is found. */
  readonly also: string;
  readonly opens: { readonly href: string } | { readonly run: () => void };
}

/** Pages that the navigation does not name. */
const furtherPages: readonly (readonly [string, string, string])[] = [
  ["Benchmarks: compare two artifacts", "/benchmarks/compare", "perf difference regression"],
  ["Benchmarks: many series", "/benchmarks/graphs", "perf history"],
  ["Benchmarks: one series", "/benchmarks/series", "perf history change point"],
  ["Benchmarks: noise", "/benchmarks/noise", "perf variance"],
  ["Benchmarks: searches", "/benchmarks/searches", "perf bisect"],
  ["Benchmarks: help", "/benchmarks/help", "perf"],
  ["Granary: commit indexes", "/granary/indexes", "cache"],
  ["Granary: quarantine", "/granary/quarantine", "cache divergence"],
  ["Granary: help", "/granary/help", "cache"],
  ["Compare catalogs", "/catalogs/diff", "definitions difference"],
  ["Home", "/", "overview attention"],
  ["Sign in or out", "/sign-in", "session login logout token"],
];

const settings: readonly (readonly [string, string, string])[] = [
  ["Retention of graphs and blobs", "/retention", "keep delete disk eviction"],
  ["Rights, roles and access", "/rights", "grant permission"],
  ["Settings of size classes", "/size-classes", "memory cpu strategy"],
  ["Watched forges", "/forge", "github webhook"],
];

const documents: readonly (readonly [string, string, string])[] = [
  ["Documents", "/docs/index.html", "help manual"],
  ["Tutorial", "/docs/tutorial.html", "start begin"],
  ["Definitions of jobs", "/docs/definitions.html", "yaml farm.yml"],
  ["Commands", "/docs/commands.html", "cli grange"],
  ["HTTP API", "/docs/http-api.html", "endpoints rest"],
  ["Settings of the server", "/docs/settings.html", "environment variable configuration"],
];

export function fixedEntries(): FixedEntry[] {
  const opening =
    (kind: FixedEntry["kind"]) =>
    ([label, href, also]: readonly [string, string, string]): FixedEntry => ({
      kind,
      label,
      also,
      opens: { href },
    });
  return [
    ...navigationGroups.flatMap((group) =>
      group.pages.map(({ label, to }) => opening("page")([label, to, group.label])),
    ),
    ...furtherPages.map(opening("page")),
    ...settings.map(opening("setting")),
    ...themes.map(
      (theme): FixedEntry => ({
        kind: "action",
        label: `Theme: ${theme}`,
        also: "colours dark light mode",
        opens: { run: () => applyTheme(theme) },
      }),
    ),
    ...documents.map(opening("document")),
  ];
}

/** Returns the entries that contain all words of a text, first those whose label has them, and has them early. */
export function matching<Entry extends { readonly label: string; readonly also: string }>(
  entries: readonly Entry[],
  text: string,
): Entry[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const placeOf = ({ label }: Entry) => {
    const places = words.map((word) => label.toLowerCase().indexOf(word));
    return places.includes(-1) ? Number.MAX_SAFE_INTEGER : (places[0] ?? 0);
  };
  return entries
    .filter(({ label, also }) => {
      const searched = `${label} ${also}`.toLowerCase();
      return words.every((word) => searched.includes(word));
    })
    .toSorted((a, b) => placeOf(a) - placeOf(b));
}
