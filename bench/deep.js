// Deep recursion over objects: parse, walk, transform, print, as a build tool does.
function tree(depth) {
  return depth ? { name: 'n' + depth, kids: [tree(depth - 1), depth % 3 ? tree(depth - 2 > 0 ? depth - 2 : 0) : null] } : { name: 'leaf', kids: [] };
}
function count(node) {
  return node ? 1 + node.kids.map(count).reduce((a, b) => a + b, 0) : 0;
}
function rename(node, path) {
  if (!node) return null;
  return { name: path + '/' + node.name, kids: node.kids.map(kid => rename(kid, path.length > 60 ? '' : path + '/' + node.name)) };
}
function sorted(node) {
  return node && { name: node.name, kids: node.kids.map(sorted).sort((a, b) => String(a && a.name).localeCompare(String(b && b.name))) };
}
const end = Date.now() + Number(process.argv[2] || 20) * 1000;
let total = 0;
while (Date.now() < end) {
  const built = tree(17);
  total += count(built) + count(rename(built, '')) + count(sorted(built));
  total += JSON.stringify(JSON.parse(JSON.stringify(built))).length % 7;
}
console.log(total);
