// The names of all elements of a page, in the form in which book/_ext/styles/reducing.py has them.
() => {
  const names = new Set();
  for (const element of document.querySelectorAll("*")) {
    names.add(element.localName);
    element.classList.forEach((name) => names.add(`.${name}`));
    if (element.id) names.add(`#${element.id}`);
    for (const attribute of element.attributes) names.add(`[${attribute.name}]`);
  }
  return [...names];
}
