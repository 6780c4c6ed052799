package io.caravan.server.config;

/** Which release this is. */
public final class Version {

    private Version() {}

    /** The version that the jar names, or "unpackaged". */
    public static String current() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "unpackaged" : version;
    }
}
