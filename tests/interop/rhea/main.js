'use strict';
// `list` prints the names and needs of all checks; `run --url U [--user U --password P] [--has a,b] [NAME...]` runs
// those whose needs the server has, and prints one line of JSON for each.  Needs are as in ../qpid-jms.

const { Bench } = require('./bench.js');

const LIMIT_MS = 60_000;
const GROUPS = ['outcomes', 'credit', 'subscriptions', 'nodes', 'messages', 'connections'];

const checks = GROUPS.flatMap((group) => Object.entries(require(`./checks/${group}.js`))).map(([name, given]) => {
  const [body, ...needs] = Array.isArray(given) ? given : [given];
  return { name, body, needs };
});

function told(error) {
  const lines = String(error?.stack ?? error?.description ?? error).split('\n');
  return lines.filter((line) => !line.includes('node:internal') && !line.includes('node_modules')).slice(0, 14).join('\n');
}

async function tried({ name, body }, options) {
  const bench = new Bench(name, options);
  const begun = performance.now();
  let detail = '';
  let timer;
  const failing = { promise: undefined };
  failing.promise = new Promise((_, reject) => {
    failing.reject = reject;
    timer = setTimeout(() => reject(new Error(`not done within ${LIMIT_MS} ms`)), LIMIT_MS);
  });
  process.on('uncaughtException', failing.reject); // what a client's handler throws is this check's
  try {
    await Promise.race([body(bench).then(() => bench.end()), failing.promise]);
  } catch (error) {
    detail = told(error);
    await Promise.race([bench.end().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 2_000))]);
  }
  process.removeListener('uncaughtException', failing.reject);
  clearTimeout(timer);
  return { check: name, ok: detail === '', ms: Math.round(performance.now() - begun), detail };
}

async function main([mode, ...rest]) {
  if (mode === 'list') {
    for (const { name, needs } of checks) console.log([name, ...needs].join(' '));
    return;
  }
  const options = {};
  const chosen = [];
  for (let index = 0; index < rest.length; index++) {
    if (rest[index].startsWith('--')) options[rest[index].slice(2)] = rest[++index];
    else chosen.push(rest[index]);
  }
  const has = (options.has ?? '').split(',');
  for (const check of checks) {
    if (chosen.length && !chosen.includes(check.name)) continue;
    if (!check.needs.every((need) => has.includes(need))) continue;
    console.log(JSON.stringify(await tried(check, options)));
  }
}

process.on('unhandledRejection', () => {}); // of a promise whose check has failed by then
main(process.argv.slice(2)).then(() => process.exit(0));
