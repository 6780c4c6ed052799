package io.caravan.server.cli.serve;

import io.caravan.StoreConfig;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.VersionProvider;
import io.caravan.server.cli.doctor.DiskChecks;
import io.caravan.server.cli.doctor.FileChecks;
import io.caravan.server.cli.doctor.Finding;
import io.caravan.server.cli.doctor.Finding.Grade;
import io.caravan.server.cli.doctor.MachineChecks;
import io.caravan.server.cli.doctor.MountChecks;
import io.caravan.server.config.Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Checks whether a machine and its settings are suitable for a server. */
@Command(
        name = "doctor",
        description = "Says whether this machine is fit to serve a store with these settings, which are those of"
                + " 'caravan serve': its limits, memory, clock, disk, file system and its mount options, how long a force takes, and who can read"
                + " the store and the secrets; and what to change. Run it as the user who runs the server. Starts nothing,"
                + " and leaves nothing behind.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        showDefaultValues = true,
        sortOptions = false,
        abbreviateSynopsis = true,
        footer = {
            "",
            "Examples:",
            "  caravan doctor --data /var/lib/caravan",
            "  caravan doctor --config /etc/caravan/caravan.properties --json",
            "",
            "Exit codes: 0 nothing has to be changed; 1 something has; 2 wrong usage, or settings are wrong."
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class DoctorCommand extends SettingsCommand implements Callable<Integer> {
    @Mixin(name = "Output")
    private Printing printing;

    /** The option for the output format. It is in a mixin, because the help groups options by mixin. */
    private static final class Printing {
        @Option(names = "--json", description = "Print each finding as an object, one a line.")
        private boolean json;
    }

    public DoctorCommand(Settings settings) {
        super(settings);
    }

    @Override
    public Integer call() throws IOException {
        List<Finding> findings = findings();
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        try (Output output = new Output(text)) {
            for (Finding finding : findings) {
                print(output, finding);
            }
        }
        spec.commandLine().getOut().print(text.toString(StandardCharsets.UTF_8));
        spec.commandLine().getOut().flush();
        boolean fit = findings.stream().allMatch(each -> each.grade() == Grade.OK || each.grade() == Grade.UNKNOWN);
        return fit ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private List<Finding> findings() {
        try {
            StoreConfig store = storeOptions.config();
            List<Finding> findings = new ArrayList<>(new MachineChecks(Path.of("/"))
                    .look(limitOptions.network(store).maxConnections()));
            findings.addAll(new DiskChecks(store.directory()).look());
            findings.addAll(new MountChecks(Path.of("/"), store.directory()).look());
            findings.addAll(FileChecks.look(store.directory(), securityOptions.secretFiles()));
            return findings;
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec.commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
    }

    private void print(Output output, Finding finding) throws IOException {
        if (!printing.json) {
            for (String line : (Iterable<String>) finding.text().lines()::iterator) {
                output.line(DocumentName.printable(line));
            }
            return;
        }
        output.object(fields -> {
            fields.writeStringField("grade", finding.grade().name().toLowerCase(Locale.ROOT));
            fields.writeStringField("subject", finding.subject());
            fields.writeStringField("found", finding.found());
            fields.writeStringField("change", finding.change());
        });
    }
}
