package io.caravan.server.cli.serve;

import io.caravan.server.config.Setting;
import io.caravan.server.config.Settings;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** Prints the settings of a parsed command line. */
final class SettingsTable {
    private static final String ROW = "%-20s  %-24s  %s%n";

    private SettingsTable() {}

    /** Prints name, value, and source, one setting per line; hides secrets. */
    static void print(ParseResult parsed, Settings settings, PrintWriter out) {
        rows(parsed, settings).forEach(row -> out.printf(Locale.ROOT, ROW, row.name(), row.value(), row.source()));
        out.flush();
    }

    /** Returns every setting, with {@code (hidden)} in place of secrets. */
    static List<Setting> rows(ParseResult parsed, Settings settings) {
        List<Setting> rows = new ArrayList<>();
        parsed.commandSpec().options().stream()
                .filter(option -> !Settings.notASetting(option))
                .sorted(Comparator.comparing(Settings::fileName))
                .forEach(option -> {
                    String source = parsed.hasMatchedOption(option) ? "command line" : settings.source(option);
                    rows.add(new Setting(Settings.fileName(option), text(option, parsed, settings), source));
                });
        if (settings.environment().containsKey(SecurityOptions.PASSWORD_VARIABLE)) {
            rows.add(new Setting("password", "(hidden)", "environment " + SecurityOptions.PASSWORD_VARIABLE));
        }
        return rows;
    }

    /** Returns the value in its original form, so that it can be entered again. */
    private static String text(OptionSpec option, ParseResult parsed, Settings settings) {
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
