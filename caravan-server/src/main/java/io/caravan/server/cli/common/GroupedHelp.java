package io.caravan.server.cli.common;

import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Groups the options in a command's help by the mixins that define them. */
public final class GroupedHelp implements IHelpSectionRenderer {
    private static final String STANDARD = "mixinStandardHelpOptions";

    public static void install(CommandLine command) {
        command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, new GroupedHelp());
    }

    @Override
    public String render(Help help) {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, CommandSpec> group : help.commandSpec().mixins().entrySet()) {
            String heading = group.getKey().equals(STANDARD) ? "Help" : group.getKey();
            text.append(System.lineSeparator()).append(heading).append(':').append(System.lineSeparator());
            text.append(options(help, group.getValue().options()));
        }
        return text.toString();
    }

    private static String options(Help help, List<OptionSpec> options) {
        Help.Layout layout = help.createDefaultLayout();
        layout.addOptions(options, help.parameterLabelRenderer());
        return layout.toString();
    }
}
