package io.caravan.server.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Shows only JVM options that are known to be harmless: others may contain passwords or commands. */
public final class JvmOptions {
    private static final String HIDDEN = "(hidden)";

    /**
     * Sizes, numbers, garbage collectors, switches, paths, and system properties that contain no secrets, and the names
     * of options whose values are hidden.
     */
    private static final Pattern SHOWN = Pattern.compile(
            "-X(m[xns]|ss)[0-9]{1,15}[kKmMgGtT]?|-X(int|mixed|comp|batch)|-(server|client|ea|da|esa|dsa)"
                    + "|-Xshare:(auto|on|off)|-XX:[+-][A-Za-z0-9]{1,64}|-XX:[A-Za-z0-9]{1,64}=[0-9.]{1,20}[kKmMgGtT]?"
                    + "|-XX:(HeapDumpPath|ErrorFile|SharedArchiveFile|ArchiveClassesAtExit|AOTCache)=[^=]*"
                    + "|-D(caravan\\.(log\\.format|progress|warm-up)|(file|stdout|stderr)\\.encoding|java\\.io\\.tmpdir"
                    + "|java\\.net\\.prefer(IPv4Stack|IPv6Addresses)|user\\.timezone)=.*"
                    + "|(?<name>-D(?=[^=]+=)|(-Xlog|-javaagent|-agentlib|-agentpath|--add-exports|--add-opens"
                    + "|--add-modules|--enable-native-access|-XX:On[A-Za-z]+)(?=[:=]|$)).*",
            Pattern.DOTALL);

    /** Options whose value is the next word. One that names the program ends the JVM options, so it is not here. */
    private static final Set<String> CLASS_PATH = Set.of("-cp", "-classpath", "--class-path", "-p", "--module-path");

    private JvmOptions() {}

    /** Returns each option, or the part of it that may be shown. */
    public static List<String> shown(List<String> options) {
        return options.stream().map(JvmOptions::shown).toList();
    }

    /** Returns the JVM options in the words of a command line, without the class path, filtered for display. */
    public static List<String> of(List<String> words) {
        List<String> options = new ArrayList<>();
        for (int i = 1; i < words.size() && words.get(i).startsWith("-"); i++) {
            if (CLASS_PATH.contains(words.get(i))) {
                i++;
            } else {
                options.add(words.get(i));
            }
        }
        return shown(options);
    }

    private static String shown(String option) {
        Matcher known = SHOWN.matcher(option);
        if (!known.matches()) {
            return HIDDEN;
        }
        return known.group("name") == null ? option : known.group("name") + HIDDEN;
    }
}
