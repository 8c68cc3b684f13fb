/** Grange's own version, as in `package.json`; a test checks that both are equal. */
export const version = "0.1.0";
