# Puts the sections that the tool has printed into the template of its manual page.
file(READ ${COMMANDS} COMMANDS)
string(STRIP "${COMMANDS}" COMMANDS)
configure_file(${TEMPLATE} ${MANUAL} @ONLY)
