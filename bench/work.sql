-- A few seconds of database work: build a table, index it, join and aggregate.
create table item(id integer primary key, parent integer, name text, price real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 600000)
insert into item select i, i / 7, printf('item %d of %d', i * 7919 % 600011, i % 97), i * 37 % 1009 / 7.0 from n;
create index by_name on item(name);
create index by_parent on item(parent);
select count(*), sum(b.price), max(a.name) from item a join item b on b.parent = a.id where a.price > 20;
select substr(name, 1, 7) k, count(*), avg(price) from item group by k order by 3 desc limit 5;
select count(*) from item where name like '%99%' or name like '%123%';
update item set price = price * 1.1 where parent in (select id from item where name < 'item 3');
select name, sum(price) over (partition by parent order by id) from item order by 2 desc limit 5;
