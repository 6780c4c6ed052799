package io.caravan.server.cli.serve;

import io.caravan.StoreConfig;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.doctor.DiskChecks;
import io.caravan.server.cli.doctor.Finding;
import io.caravan.server.cli.doctor.Finding.Grade;
import io.caravan.server.cli.doctor.MachineChecks;
import io.caravan.server.config.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "doctor",
        description = {
            "Checks whether this machine is suitable for a server with the given settings, which are those of"
                    + " 'caravan serve', and prints what to change. The checks concern limits, memory, clock, disk,"
                    + " file system, mount options, the duration of an fsync, and which users can read the store and"
                    + " the secrets.",
            "Run the command as the operating-system user that runs the server. It starts no server. To measure"
                    + " fsyncs, it writes a small file next to the store, and then deletes the file."
        },
        exitCodeList = {"0:nothing needs to change", "1:something needs to change", "2:usage error, or wrong settings"},
        footer = {
            "  caravan doctor --data /var/lib/caravan",
            "  caravan doctor --config /etc/caravan/caravan.properties --json"
        })
public final class DoctorCommand extends SettingsCommand implements ReadOnly {
    @Mixin(name = "Output")
    private Format format;

    public DoctorCommand(Settings settings) {
        super(settings);
    }

    @Override
    protected void run(Output output) throws IOException {
        List<Finding> findings = checked(this::findings);
        for (Finding finding : findings) {
            String text = finding.text().lines().map(DocumentName::printable).collect(Collectors.joining("\n"));
            output.print(text, finding);
        }
        boolean fit = findings.stream().allMatch(each -> each.grade() == Grade.OK || each.grade() == Grade.UNKNOWN);
        exitWith(fit ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE);
    }

    private List<Finding> findings() throws IOException {
        StoreConfig store = storeOptions.config();
        // Rejects the settings that 'serve' rejects.
        archiveOptions.config(storeOptions.data(), null);
        List<Finding> findings = new ArrayList<>(
                new MachineChecks(Path.of("/")).run(limitOptions.network(store).maxConnections()));
        findings.addAll(new DiskChecks(Path.of("/"), store.directory()).run(true));
        findings.addAll(DiskChecks.access(store.directory(), securityOptions.secretFiles()));
        return findings;
    }
}
