-- Returns the terms under which a text is found by pinyin, as hashes that include `prefix`. Each reading of a Chinese character
-- gives the reading itself and, if the preceding character is Chinese too, the first letters of both. The whole text gives `=`
-- with the first letters of all its Chinese characters. Indexes use this function: changing it requires a migration that rebuilds
-- them. Every write of a name calls this function, so a character with a single reading takes only a few statements.
create or replace function pinyin_terms(prefix text, content text) returns bigint[]
  language plpgsql immutable parallel safe as $$
declare
  terms bigint[] := '{}';
  beginnings text[] := '{""}'; -- the first letters up to the last character that can have several: each combination
  beginning text;
  variants text[];
  ending text := '';           -- the first letters since then
  previous text := '';         -- the first letters of the readings of the character before, each once
  initials text;
  character text;
  letter text;
  code int;
  reading int;
  place int;
begin
  foreach character in array coalesce(string_to_array(lower(content), null), '{}') loop
    code := ascii(character);
    if code between 19968 and 40959 then
      -- The schema is named because indexes are built and analyzed with an empty search_path.
      reading := 256 * get_byte(banyan.pinyin_readings(), 2 * code - 39936)
        + get_byte(banyan.pinyin_readings(), 2 * code - 39935);
      if reading between 1 and 32767 and length(previous) = 1 then
        letter := chr(96 + reading / 512);
        terms := terms || array[hashtextextended(prefix || reading, 0), hashtextextended(prefix || previous || letter, 0)];
        ending := ending || letter;
        previous := letter;
        continue;
      end if;
      place := 41984 + 6 * (reading - 32768);
      initials := '';
      for n in 0..2 loop
        if place >= 41984 then
          reading := 256 * get_byte(banyan.pinyin_readings(), place + 2 * n)
            + get_byte(banyan.pinyin_readings(), place + 2 * n + 1);
        end if;
        exit when reading = 0;
        terms := terms || hashtextextended(prefix || reading, 0);
        letter := chr(96 + reading / 512);
        if strpos(initials, letter) = 0 then
          for m in 1..length(previous) loop
            terms := terms || hashtextextended(prefix || substr(previous, m, 1) || letter, 0);
          end loop;
          initials := initials || letter;
        end if;
        exit when place < 41984;
      end loop;
      if length(initials) < 2 then
        ending := ending || initials;
      else
        variants := '{}';
        foreach beginning in array beginnings loop
          for n in 1..length(initials) loop
            -- At most eight: five characters with two first letters each would have 32.
            exit when cardinality(variants) = 8;
            variants := variants || (beginning || ending || substr(initials, n, 1));
          end loop;
        end loop;
        beginnings := variants;
        ending := '';
      end if;
      previous := initials;
    else
      previous := '';
    end if;
  end loop;
  if cardinality(terms) > 0 then
    foreach character in array beginnings loop
      terms := terms || hashtextextended(prefix || '=' || character || ending, 0);
    end loop;
  end if;
  return terms;
end $$;
