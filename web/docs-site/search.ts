import MiniSearch from "minisearch";

/** A section of a document, as `scripts/docs-site/build-docs.mjs` writes it to search.json.gz. */
interface Section {
  readonly title: string;
  readonly heading: string;
  readonly url: string;
  readonly text: string;
  readonly isDecision?: true;
}

const base = document.body.dataset["base"] ?? ".";
const query = document.querySelector<HTMLInputElement>("#query");
const results = document.querySelector<HTMLOListElement>("#results");
const menu = document.querySelector<HTMLDetailsElement>("nav details");

// On a narrow screen the list of documents would hide the text.
if (menu !== null && matchMedia("(max-width: 60rem)").matches) menu.open = false;

let index: Promise<MiniSearch<Section>> | undefined;

/** Loads the sections with the first search, not with each page. */
async function loadIndex(): Promise<MiniSearch<Section>> {
  const { body } = await fetch(`${base}/search.json.gz`);
  if (body === null) throw new Error("search.json.gz is empty");
  const decompressed = new Response(body.pipeThrough(new DecompressionStream("gzip")));
  const sections = (await decompressed.json()) as readonly Section[];
  const search = new MiniSearch<Section>({
    idField: "url",
    fields: ["title", "heading", "text"],
    storeFields: ["title", "heading", "url", "isDecision"],
    searchOptions: {
      boost: { title: 4, heading: 3 },
      prefix: true,
      fuzzy: 0.15,
      combineWith: "AND",
      // Users look for documents first.
      boostDocument: (_id, _term, stored) => (stored?.["isDecision"] === true ? 0.3 : 1),
    },
  });
  search.addAll(sections);
  return search;
}

async function show(text: string): Promise<void> {
  if (results === null) return;
  index ??= loadIndex();
  const found = text.trim() === "" ? [] : (await index).search(text).slice(0, 12);
  // Another letter was typed meanwhile.
  if (query?.value !== text) return;
  results.hidden = text.trim() === "";
  results.replaceChildren(
    ...found.map(({ title, heading, url, isDecision }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = `${base}/${url as string}`;
      const text = title === heading ? String(title) : `${title as string}: ${heading as string}`;
      link.textContent = isDecision === true ? `Decision: ${text}` : text;
      item.append(link);
      return item;
    }),
  );
  if (found.length === 0 && !results.hidden) results.textContent = "Nothing was found.";
}

query?.addEventListener("input", () => void show(query.value));
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    query?.focus();
  }
  if (event.key === "Escape" && query !== null) {
    query.value = "";
    void show("");
  }
});
