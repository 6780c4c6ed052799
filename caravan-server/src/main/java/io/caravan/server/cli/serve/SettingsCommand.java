package io.caravan.server.cli.serve;

import io.caravan.server.config.Settings;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Spec;

/** A command that accepts the settings of a server. */
abstract class SettingsCommand {
    protected final Settings settings;

    @Spec
    protected CommandLine.Model.CommandSpec spec;

    @Mixin(name = "Store")
    protected StoreOptions storeOptions;

    @Mixin(name = "Archive")
    protected ArchiveOptions archiveOptions;

    @Mixin(name = "Listening")
    protected ListenOptions listenOptions;

    @Mixin(name = "Cluster")
    protected ClusterOptions clusterOptions;

    @Mixin(name = "Security")
    protected SecurityOptions securityOptions;

    @Mixin(name = "Limits")
    protected LimitOptions limitOptions;

    @Mixin(name = "Process")
    protected ProcessOptions processOptions;

    SettingsCommand(Settings settings) {
        this.settings = settings;
    }
}
