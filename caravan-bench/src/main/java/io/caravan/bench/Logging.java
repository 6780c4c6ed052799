package io.caravan.bench;

/** What of the log is shown. */
public final class Logging {
    private static final String CONFIGURATION = "logback.configurationFile";

    private Logging() {}

    /** Keeps the terminal for the program's own words; to be called before anything logs. A setting from outside stays. */
    public static void warningsOnly() {
        if (System.getProperty(CONFIGURATION) == null) {
            System.setProperty(CONFIGURATION, "logback-warnings.xml");
        }
    }
}
