/** The picture of `public/favicon.svg`, in the page itself: an image would be one more request. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#1f6f4a" />
      <g fill="none" stroke="#f4e9c8" strokeLinejoin="round">
        <path d="M6 26V14l10-8 10 8v12z" strokeWidth="2.4" />
        <path d="M12 26v-8h8v8M12 18l8 8M20 18l-8 8" strokeWidth="1.8" />
      </g>
    </svg>
  );
}
