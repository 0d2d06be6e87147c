-- Returns the n-grams under which a text is found: each character and each pair of adjacent characters, case-insensitive,
-- as hashes that include `prefix`. One or two characters are enough for a search, also in Chinese, and a text contains all
-- n-grams of each of its parts. An index uses this function: changing it requires a migration that rebuilds the index.
create or replace function search_ngrams(prefix text, content text) returns bigint[]
  language plpgsql immutable parallel safe as $$
declare
  ngrams bigint[] := '{}';
  character text;
  previous text;
begin
  foreach character in array coalesce(string_to_array(lower(content), null), '{}') loop
    ngrams := ngrams || hashtextextended(prefix || character, 0);
    if previous is not null then
      ngrams := ngrams || hashtextextended(prefix || previous || character, 0);
    end if;
    previous := character;
  end loop;
  return ngrams;
end $$;
