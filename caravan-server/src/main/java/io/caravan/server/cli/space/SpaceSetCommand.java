package io.caravan.server.cli.space;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.common.Output;
import io.caravan.server.config.Quantities;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSetting.Unit;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Creates a space, or changes its settings. */
@Command(
        name = "set",
        description = {
            "Makes a space of all documents whose names begin with PREFIX, or changes some of its settings; those that are"
                    + " not named stay. Needs the permission admin.",
            "  max-value-bytes    greatest size of one value",
            "  max-values         greatest number of values of one document",
            "  max-bytes          greatest size of all values of one document",
            "  retain-values      how many of its newest values a document keeps: an append trims the oldest",
            "  retain-bytes       how many bytes of its newest values a document keeps, and the newest always",
            "  retain-age         how long a document keeps a value: an older one is trimmed, within a minute or so",
            "  quota-documents    greatest number of documents in the space",
            "  quota-bytes        greatest size of all values in the space",
            "  writes-per-second  appends and creations, of all documents together",
            "  bytes-per-second   appended bytes, of all documents together",
            "  durability         what has happened to a change before it is answered: memory, process (the operating system"
                    + " has it), sync (it is on the disk), replicated (in a cluster); at most what the server promises",
            "  flush-delay        how long a change may wait for others to share its flush, in place of --flush-policy: up to 1m",
            "  timestamps         on: each value is stored with the time at which it came, in 8 bytes more",
            "  archive-after      how old a change gets before it is archived, in place of the server's --archive-after",
            "  archive-keep       how many of a document's newest generations stay in the archive, in place of --archive-keep",
            "  archive-keep-days  generations that are not older stay too, in place of --archive-keep-days",
            "  archive-keep-daily for so many days, the newest generation of each day too, in place of --archive-keep-daily",
            "A size may have a unit: 64KiB, 10MiB, 1GiB; a time has one: 90s, 12h. 0 unsets a setting. What is over a limit is refused and changes"
                    + " nothing; what is there already stays."
        },
        footer = {
            "  caravan space set chat/ retain-values=1000 max-value-bytes=64KiB",
            "  caravan space set tenant-7/ quota-bytes=10GiB quota-documents=50000 writes-per-second=200",
            "  caravan space set tenant-7/ writes-per-second=0",
            "  caravan space set presence/ durability=memory",
            "  caravan space set metrics/ flush-delay=50ms",
            "  caravan space set chat/ timestamps=on",
            "  caravan space set contracts/ archive-after=1m"
        })
final class SpaceSetCommand extends ClientCommand {
    @Parameters(index = "0", paramLabel = "PREFIX", description = "What the names begin with: 1 to 256 bytes.")
    private String prefix;

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "SETTING=VALUE", description = "What to set.")
    private Map<String, String> given = new LinkedHashMap<>();

    @Override
    protected void run(Output output) throws IOException {
        Stream<String> settings = given.entrySet().stream()
                .flatMap(each -> Stream.of(each.getKey(), number(each.getKey(), each.getValue())));
        String[] request = Stream.concat(Stream.of("CARAVAN.SPACE", "SET", prefix), settings)
                .toArray(String[]::new);
        List<SpaceFields> set = new ArrayList<>();
        inEachGroup(leader -> set.add(new SpaceFields(leader.askAtLeisure(request))));
        set.get(0).print(output, json());
    }

    private String number(String key, String value) {
        try {
            SpaceSetting setting = SpaceSetting.of(key);
            if (setting.unit() == Unit.BYTES) {
                return String.valueOf(new Quantities.Bytes().convert(value));
            }
            if (setting.unit() == Unit.SECONDS && !value.equals("0")) {
                Duration time = new Quantities.Time().convert(value);
                check(time.toMillisPart() == 0, key + ": '" + value + "' is not in whole seconds");
                return String.valueOf(time.toSeconds());
            }
            if (setting.unit() == Unit.MILLISECONDS && !value.equals("0")) {
                return String.valueOf(new Quantities.Time().convert(value).toMillis());
            }
            if (setting.unit() == Unit.WORD) {
                setting.number(value);
            } else {
                check(value.matches("[0-9]{1,16}"), key + ": '" + value + "' is not a number");
            }
            return value;
        } catch (IllegalArgumentException | TypeConversionException wrong) {
            throw misused(key + ": " + wrong.getMessage());
        }
    }
}
