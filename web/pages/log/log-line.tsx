import { type CSSProperties, memo } from "react";
import { numberText } from "../../parts/number-text.ts";
import { backgroundColour, colourVariable, textOn } from "./palette.ts";
import type { Style } from "./style.ts";
import { type Token, tokenizeLine } from "./tokenize-line.ts";

interface Props {
  readonly raw: string;
  readonly style: Style;
  readonly folded: number;
  /** How many characters follow that are not loaded. */
  readonly hidden: number;
}

/** The content of one line. All of it becomes text nodes; nothing is ever parsed as markup. */
export const LogLineContent = memo(function LogLineContent({ raw, style, folded, hidden }: Props) {
  return (
    <>
      {folded > 0 ? (
        <span
          className="log-folded"
          title={`${folded} earlier states of this line were overwritten`}
        >
          ↻
        </span>
      ) : null}
      {tokenizeLine(raw, style).map((token, at) => (
        // The pieces of a line never change their order.
        <Piece key={at} token={token} />
      ))}
      {hidden > 0 ? (
        <span className="log-more">
          … {numberText(hidden)} more characters; download the log to see them
        </span>
      ) : null}
    </>
  );
});

function Piece({ token }: { token: Token }) {
  switch (token.kind) {
    case "text":
      return <span {...looks(token.style)}>{token.text}</span>;
    case "link":
      return (
        <a
          {...looks(token.style)}
          href={token.text}
          target="_blank"
          rel="noreferrer noopener nofollow"
        >
          {token.text}
        </a>
      );
    case "mark":
      return (
        <span className="log-mark" title="a control character">
          {token.text}
        </span>
      );
    case "more":
      return <span className="log-more">{token.text}</span>;
  }
}

function looks(style: Style): { className?: string; style?: CSSProperties } {
  const names: string[] = [];
  if (style.bold) names.push("t-bold");
  if (style.dim) names.push("t-dim");
  if (style.italic) names.push("t-italic");
  if (style.underline) names.push("t-underline");
  if (style.strike) names.push("t-strike");
  if (style.inverse) names.push("t-inverse");
  const [text, behind] = style.inverse
    ? [style.background, style.foreground]
    : [style.foreground, style.background];
  const background = backgroundColour(behind);
  const foreground =
    text === undefined && behind !== undefined ? textOn(behind) : colourVariable(text);
  const css: CSSProperties = {
    ...(foreground === undefined ? {} : { color: foreground }),
    ...(background === undefined ? {} : { backgroundColor: background }),
  };
  return {
    ...(names.length === 0 ? {} : { className: names.join(" ") }),
    ...(foreground === undefined && background === undefined ? {} : { style: css }),
  };
}
