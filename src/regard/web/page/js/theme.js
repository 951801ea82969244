/** Light or dark: the reader's system decides until the reader does. */

const KEY = "regard.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** Set the theme, and follow the system while nothing was chosen. Pictures listen to `themechange` on the document. */
export function applyTheme() {
  show();
  system.addEventListener("change", show);
}

export function toggleTheme() {
  remember(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  show();
}

function show() {
  const theme = chosen() ?? (system.matches ? "dark" : "light");
  if (document.documentElement.dataset.theme === theme) return;
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new CustomEvent("themechange"));
}

function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a private window may refuse
  }
}

/** @param {string} theme */
function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    document.documentElement.dataset.theme = theme;
  }
}
