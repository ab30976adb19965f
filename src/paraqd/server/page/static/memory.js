// What this browser remembers between visits. Every function works, for this visit only, if storage is blocked.

const PREFIX = "paraqd.";
const unstored = new Map();

export function recall(key, otherwise = null) {
  try {
    const text = localStorage.getItem(PREFIX + key);
    if (text !== null) return text;
  } catch {
    // Blocked: fall through.
  }
  return unstored.get(key) ?? otherwise;
}

/** Remember a text. Return false if only this visit remembers it. */
export function remember(key, text) {
  try {
    localStorage.setItem(PREFIX + key, text);
    unstored.delete(key);
    return true;
  } catch {
    unstored.set(key, text);
    return false;
  }
}

export function forget(key) {
  unstored.delete(key);
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // Blocked: nothing was stored.
  }
}

/** Return all remembered keys that begin with the given text. */
export function keysFrom(start) {
  const found = [...unstored.keys()];
  try {
    for (let i = 0; i < localStorage.length; i++) {
      const key = localStorage.key(i);
      if (key.startsWith(PREFIX)) found.push(key.slice(PREFIX.length));
    }
  } catch {
    // Blocked.
  }
  return found.filter((key) => key.startsWith(start));
}
