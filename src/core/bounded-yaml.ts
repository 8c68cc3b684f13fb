import {
  Composer,
  type Document,
  type DocumentOptions,
  Lexer,
  type LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  YAMLParseError,
} from "yaml";

/** Thrown for a text whose maps and lists are nested deeper than the limit. */
export class YamlTooDeep extends RangeError {
  override readonly name = "YamlTooDeep";
}

type Options = ParseOptions &
  DocumentOptions &
  SchemaOptions & { readonly lineCounter?: LineCounter };

/**
 * Parses untrusted YAML as `parseDocument` of the `yaml` package does, but throws `YamlTooDeep` before the package
 * recurses deeper than `depth` maps and lists.
 *
 * Without the limit, a text of 2 KiB such as `- - - …` exhausts the call stack. That is not always an error that can be
 * caught: when V8 compiles a regular expression at the end of the stack, it ends the process ("RegExpCompiler
 * Allocation failed").
 */
export function parseBoundedYaml(text: string, depth: number, options: Options): Document.Parsed {
  const parser = new Parser(options.lineCounter?.addNewLine);
  const tokens = [];
  options.lineCounter?.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    // The stack holds the open document, each open map and list, and at most one scalar.
    if (parser.stack.length > depth + 2)
      throw new YamlTooDeep(`maps and lists are nested more than ${depth} levels deep`);
  }
  for (const token of parser.end()) tokens.push(token);
  const [document, another] = new Composer(options).compose(tokens, true, text.length);
  // `compose` with `true` yields a document for any text.
  if (document === undefined) throw new Error("the yaml package returned no document");
  if (another !== undefined) {
    const [start, end] = another.range;
    const message = "Source contains multiple documents";
    document.errors.push(new YAMLParseError([start, end], "MULTIPLE_DOCS", message));
  }
  return document;
}
