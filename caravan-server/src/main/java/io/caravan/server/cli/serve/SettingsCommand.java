package io.caravan.server.cli.serve;

import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.cli.common.IoSupplier;
import io.caravan.server.config.Setting;
import io.caravan.server.config.Settings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** The base class of commands that accept the settings of a server. */
@Command(abbreviateSynopsis = true)
abstract class SettingsCommand extends CliCommand {
    protected final Settings settings;

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

    /** Converts an {@link IllegalArgumentException}, which reports invalid settings, to a usage error. */
    final <T> T checked(IoSupplier<T> settings) throws IOException {
        try {
            return settings.get();
        } catch (IllegalArgumentException wrong) {
            throw new ParameterException(spec().commandLine(), String.valueOf(wrong.getMessage()), wrong);
        }
    }

    /** Returns every setting, with {@code (hidden)} in place of secrets. */
    final List<Setting> settings() {
        ParseResult parsed = spec().commandLine().getParseResult();
        List<Setting> rows = new ArrayList<>();
        parsed.commandSpec().options().stream()
                .filter(option -> !Settings.notASetting(option))
                .sorted(Comparator.comparing(Settings::fileName))
                .forEach(option -> {
                    String source = parsed.hasMatchedOption(option) ? "command line" : settings.source(option);
                    rows.add(new Setting(Settings.fileName(option), withoutSecret(text(option, parsed)), source));
                });
        if (settings.environment().containsKey(SecurityOptions.PASSWORD_VARIABLE)) {
            rows.add(new Setting("password", "(hidden)", "environment " + SecurityOptions.PASSWORD_VARIABLE));
        }
        return rows;
    }

    /** Hides the user and the password of each URL. A password may contain a slash; the URL of a directory has none. */
    private static String withoutSecret(String value) {
        return value.replaceAll("(?<!file)://([^/,]*|[^,]*:[^,]*)@", "://(hidden)@");
    }

    /** Returns the value in the form in which a user can enter it again. */
    private String text(OptionSpec option, ParseResult parsed) {
        if (parsed.hasMatchedOption(option)) {
            List<String> words = option.originalStringValues();
            if (option.isMultiValue()) {
                return String.join(",", words);
            }
            return words.isEmpty() ? String.valueOf((Object) option.getValue()) : words.get(words.size() - 1);
        }
        String configured = settings.defaultValue(option);
        String value = configured != null ? configured : option.defaultValue();
        return value != null ? value : "-";
    }
}
