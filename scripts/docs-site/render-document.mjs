import { posix } from "node:path";
import { Marked } from "marked";

/**
 * Returns the address of a document's page below `/docs/`: `tls.html` for that of docs/tls.md, `index.html` for a
 * README.md, `project/glossary.html` for GLOSSARY.md at the top.
 */
export function pageOf(document) {
  const below = document.startsWith("docs/")
    ? document.slice("docs/".length)
    : `project/${document.toLowerCase()}`;
  return below.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html");
}

/** Returns the anchor that a forge gives to a heading. */
function anchorOf(heading) {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/**
 * Renders a document. Returns its title, its HTML, and its sections for the search.
 *
 * Links to other documents lead to their pages. Links to other files of the repository, which the site does not have,
 * become text.
 */
export function renderDocument(document, markdown, hasPage) {
  const seen = new Map();
  const sections = [];
  const page = pageOf(document);
  const addressOf = (href) => {
    if (/^(?:[a-z][a-z0-9+.-]*:|#)/i.test(href)) return href;
    const [path, anchor] = href.split("#");
    const target = posix.normalize(posix.join(posix.dirname(document), decodeURI(path)));
    const folder = posix.normalize(posix.join(target, "README.md"));
    const found = [target, folder].find(hasPage);
    if (found === undefined) return undefined;
    const to = found.endsWith(".md") ? pageOf(found) : posix.relative("docs", found);
    const relative = posix.relative(posix.dirname(page), to);
    return anchor === undefined ? relative : `${relative}#${anchor}`;
  };
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = anchorOf(text);
        const earlier = seen.get(anchor) ?? 0;
        seen.set(anchor, earlier + 1);
        const id = earlier === 0 ? anchor : `${anchor}-${earlier}`;
        sections.push({ heading: plain(text), id: depth === 1 ? "" : id, text: "" });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = addressOf(href);
        return address === undefined ? text : `<a href="${escaped(address)}">${text}</a>`;
      },
      image({ href, text }) {
        const address = addressOf(href);
        return address === undefined
          ? escaped(text)
          : `<img src="${escaped(address)}" alt="${escaped(text)}">`;
      },
      table(token) {
        const row = (cells, tag) =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
        const head = token.header.some(({ text }) => text !== "")
          ? `<thead>${row(token.header, "th")}</thead>`
          : "";
        const body = token.rows.map((cells) => row(cells, "td")).join("\n");
        return `<div class="table"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(markdown);
  addTexts(sections, markdown);
  return { title: sections[0]?.heading ?? document, html, sections };
}

/** Adds to each section the text below its heading. */
function addTexts(sections, markdown) {
  let fence = false;
  let at = -1;
  for (const line of markdown.split("\n")) {
    if (/^\s*(?:```|~~~)/.test(line)) fence = !fence;
    if (!fence && /^#{1,6} /.test(line)) at += 1;
    else if (sections[at] !== undefined) sections[at].text += `${plain(line)} `;
  }
}

function plain(markdown) {
  return markdown
    .replaceAll(/<!--.*?-->/g, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "")
    .replaceAll(/[*|]/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

export function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
