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
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

@Command(
        name = "set",
        description = {
            "Creates a space for all documents whose names start with PREFIX, or changes the named settings of the"
                    + " space and keeps all others. Then prints the space. Requires the admin permission.",
            "  max-value-bytes    maximum size of one value",
            "  max-values         maximum number of values of one document",
            "  max-bytes          maximum size of all values of one document",
            "  retain-values      number of newest values that a document keeps: an append trims the oldest",
            "  retain-bytes       bytes of newest values that a document keeps; it always keeps the newest value",
            "  retain-age         time for which a document keeps a value; older values are trimmed within about a"
                    + " minute",
            "  quota-documents    maximum number of documents in the space",
            "  quota-bytes        maximum size of all values in the space",
            "  writes-per-second  maximum number of appends and creations, of all documents together",
            "  bytes-per-second   maximum bytes that are appended, of all documents together",
            "  durability         level that a write reaches before it is acknowledged, at most that of the server:"
                    + " memory, process (in the operating system), sync (on the disk), or replicated (in a cluster)",
            "  flush-delay        time for which a write may wait for others to share its fsync, up to 1m, instead of"
                    + " --flush-policy",
            "  timestamps         on: store the time of arrival with each value, which takes 8 more bytes",
            "  archive-after      maximum time until a write is archived, instead of --archive-after",
            "  archive-keep       number of newest generations of a document to keep, instead of --archive-keep",
            "  archive-keep-days  age in days of the generations that are also kept, instead of --archive-keep-days",
            "  archive-keep-daily number of days for which the newest generation of each day is also kept, instead of"
                    + " --archive-keep-daily",
            "A size may have a unit, such as 64KiB or 10GiB. A time must have a unit, such as 90s or 12h. 0 unsets a"
                    + " setting. A write that exceeds a limit is rejected and changes nothing; existing documents stay. In"
                    + " a cluster, the command applies to all Raft groups."
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
    @Parameters(index = "0", paramLabel = "PREFIX", description = "Prefix of the names, 1 to 256 bytes.")
    private String prefix;

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "SETTING=VALUE",
            description = "Settings with their new values.")
    private Map<String, String> given = new LinkedHashMap<>();

    @Override
    protected void run(Output output) throws IOException {
        List<String> settings = new ArrayList<>();
        given.forEach((key, value) -> settings.addAll(List.of(key, number(key, value))));
        List<SpaceFields> set = new ArrayList<>();
        inEachGroup(
                leader -> set.add(new SpaceFields(leader.callLongRunning("CARAVAN.SPACE", "SET", prefix, settings))));
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
